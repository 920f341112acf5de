/** `token` (RFC 9110, 5.6.2): header and method names. */
export const tokenPattern = /^[\w!#$%&'*+.^`|~-]+$/;

/** `field-value` (RFC 9110, 5.5), one character a byte. A line break would start another header. */
export const fieldValuePattern = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Encodes text as UTF-8, one character a byte: the form in which Node writes header values. */
export const toLatin1 = (text: string): string => Buffer.from(text).toString('latin1');
