const spelling: Readonly<Record<string, string>> = {
  api: 'API',
  apis: 'APIs',
  auth: 'authentication',
  graphql: 'GraphQL',
  jwks: 'JWKS',
  mcp: 'MCP',
  oas: 'OpenAPI',
  oauth: 'OAuth',
  sso: 'single sign-on',
  totp: 'TOTP',
  url: 'URL',
};

/** Name of an audited action as words: `createOasApi` is *Create OpenAPI API*. */
export function toActionText(action: string): string {
  return toSentence(action.split(/(?=[A-Z])/));
}

/** Code of a refusal as words: `auth_field_missing` is *Authentication field missing*. */
export const toRefusalText = (code: string): string => toSentence(code.split('_'));

function toSentence(words: readonly string[]): string {
  const text = words.map(word => spelling[word.toLowerCase()] ?? word.toLowerCase()).join(' ');
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
