import { texts } from '../../texts/texts.ts';

/** State of the traffic threads after a write with `wait: 'applied'`. */
export const describeApplied = (headers: Headers): string =>
  headers.get('x-gw-applied') === 'true'
    ? texts.apis.appliedAll
    : texts.apis.appliedNot(headers.get('x-gw-not-applied') ?? '');
