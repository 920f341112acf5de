/** Fields no effect is written for yet: whoever writes one takes its name away. */
export const unproven: readonly string[] = [];
