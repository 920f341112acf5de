const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  "'": '&#39;',
  '"': '&#34;',
};

/** Text that can begin nothing new inside HTML or XML, between tags and inside quotes. */
export const escapeMarkup = (plain: string): string => plain.replaceAll(/[&<>'"]/g, it => escapes[it]!);
