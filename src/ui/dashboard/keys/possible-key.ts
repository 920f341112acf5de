/** Text of a length of keys, without spaces: it goes in a body, since addresses are in the logs of proxies. */
export const isPossibleKey = (text: string): boolean => /^\S{16,}$/.test(text);
