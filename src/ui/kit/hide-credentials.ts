/** Names of parameters and members that hold credentials. */
const secretName = /token|secret|passw|credential|api[-_]?key|^(?:key|auth\w*|code|sig\w*|assertion|jwt|pin)$/i;

export const toPlaceholder = (name: string): string => `<${name.toLowerCase()}>`;

/** Query or form in which values of parameters with the name of a credential are placeholders. */
export const hideParameters = (query: string): string =>
  query
    .split('&')
    .map(pair => {
      const name = pair.split('=')[0]!;
      return secretName.test(name) ? `${name}=${encodeURIComponent(toPlaceholder(name))}` : pair;
    })
    .join('&');

/** URL without user information, and with placeholders in its query. */
export function hideInUrl(url: string): string {
  const [target, ...query] = url.replace(/^(\w+:\/\/)[^/?#]*@/, '$1').split('?');
  return query.length > 0 ? `${target}?${hideParameters(query.join('?'))}` : target!;
}

/** Body in which members of JSON, or fields of a form, with the name of a credential are placeholders. */
export function hideInBody(body: string): string {
  try {
    const hide = (name: string, value: unknown) =>
      secretName.test(name) && typeof value !== 'object' ? toPlaceholder(name) : value;
    return JSON.stringify(JSON.parse(body, hide));
  } catch {
    return /^[\w.+%*-]+=[^\s<{]*$/.test(body) ? hideParameters(body) : body;
  }
}
