/** Text before the near miss in the message of the step `route`. */
export const nearMissMark = '; there is one at ';
