const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  "'": '&#39;',
  '"': '&#34;',
};

/** Escapes text for HTML and XML, between tags and inside quoted attributes. */
export const escapeMarkup = (plain: string): string => plain.replaceAll(/[&<>'"]/g, it => escapes[it]!);
