import { formatNumber, formatSeconds } from '../../kit/format.ts';
import { texts } from '../../texts/texts.ts';
import type { Limits } from './limits.ts';

const own = texts.limits;

/** Words of a period by its seconds: one hour is `an hour`, or `every hour`. */
const oneUnit: Readonly<Record<number, keyof typeof own.units>> = {
  1: 'second',
  60: 'minute',
  3600: 'hour',
  86400: 'day',
};

/** `100 a minute`, `5 in 10 s`, or that there is no limit. */
export const describeRate = ({ rate = 0, per = 0 }: Limits): string =>
  rate > 0 && per > 0 ? describeCount(rate, per, own.inTime) : texts.kit.unlimited;

export const describeQuota = ({ quota_max: max = 0, quota_renewal_rate: seconds = 0 }: Limits): string => {
  if (max <= 0) return texts.kit.unlimited;
  return seconds > 0 ? describeCount(max, seconds, own.everyTime) : `${formatNumber(max)} ${own.neverShort}`;
};

export function describePeriod(seconds = 0): string {
  if (seconds <= 0) return own.neverShort;
  const unit = oneUnit[seconds];
  return own.everyShort(unit ?? formatSeconds(seconds));
}

function describeCount(count: number, seconds: number, other: (count: string, span: string) => string): string {
  const unit = oneUnit[seconds];
  return unit ? `${formatNumber(count)} ${own.units[unit]}` : other(formatNumber(count), formatSeconds(seconds));
}
