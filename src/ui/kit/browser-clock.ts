/** Time of the browser: the only file of the web apps that reads it. */
export const nowMs = (): number => Date.now();
