/** Percent-decodes text (RFC 3986, section 2.1); malformed encoding and invalid UTF-8 stay as they are. */
export function percentDecodeLoosely(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** As `percentDecodeLoosely`, for names and values of a query, where a plus sign is a space. */
export function decodeQueryText(text: string): string {
  if (!/[%+]/.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
