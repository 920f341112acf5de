/**
 * Content security policy of responses that are no application: they load nothing, and no site may frame them
 * (Content Security Policy Level 3, 6.4.2).
 */
export const closedPagePolicy = "default-src 'none'; frame-ancestors 'none'";

/** For pages whose author chooses what they load: they are framed by no site either. */
export const framePolicy = "frame-ancestors 'none'";

/** Headers of a plain-text response that a browser may show. */
export const plainTextHeaders: Readonly<Record<string, string>> = {
  'Content-Type': 'text/plain; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': closedPagePolicy,
};
