const spelling: Readonly<Record<string, string>> = {
  api: 'API',
  apis: 'APIs',
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
  const words = action.split(/(?=[A-Z])/).map(word => spelling[word.toLowerCase()] ?? word.toLowerCase());
  const text = words.join(' ');
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
