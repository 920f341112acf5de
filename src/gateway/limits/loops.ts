import type { Exchange } from '../pipeline/exchange.ts';

/** A call that came round inside the gateway was counted when it came in, unless it asks to be counted again. */
export const skipsLimits = ({ loopCount, checkLimitsInLoop }: Exchange): boolean => loopCount > 0 && !checkLimitsInLoop;
