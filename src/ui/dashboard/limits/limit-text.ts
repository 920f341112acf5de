import { formatNumber, formatSeconds } from '../../kit/format.ts';
import { texts } from '../../texts/texts.ts';
import type { Limits } from './limit-fields.tsx';

const own = texts.limits;

/** `100 in 60 s`, or that there is no limit. */
export const describeRate = ({ rate = 0, per = 0 }: Limits): string =>
  rate > 0 && per > 0 ? own.inTime(formatNumber(rate), formatSeconds(per)) : texts.kit.unlimited;

export const describeQuota = ({ quota_max: max = 0, quota_renewal_rate: seconds = 0 }: Limits): string =>
  max > 0 ? `${formatNumber(max)} ${describePeriod(seconds)}` : texts.kit.unlimited;

export const describePeriod = (seconds = 0): string =>
  seconds > 0 ? own.everyShort(formatSeconds(seconds)) : own.neverShort;
