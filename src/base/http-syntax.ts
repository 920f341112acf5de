/** What the name of a header or a method is made of. */
export const tokenPattern = /^[\w!#$%&'*+.^`|~-]+$/;

/** What the value of a header may hold: a line break would begin another header. One character is one byte here. */
export const fieldValuePattern = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Text beyond ASCII goes over a connection in UTF-8, and what arrives is taken for bytes. */
export const toLatin1 = (text: string): string => Buffer.from(text).toString('latin1');
