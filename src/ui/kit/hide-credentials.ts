/** Names of parameters and members that hold credentials. */
const secretName = new RegExp(
  [
    'token|secret|passw|passphrase|passcode|credential|signature|session|cookie',
    '(?:api|access|private|subscription)[-_]?key',
    '^(?:key|pass|auth\\w*|code|otp|sig\\w*|assertion|jwt|pin)$',
  ].join('|'),
  'i',
);

/** Decoded name of a parameter; one that cannot be decoded counts as that of a credential. */
function isSecretParameter(name: string): boolean {
  try {
    return secretName.test(decodeURIComponent(name));
  } catch {
    return true;
  }
}

export const toPlaceholder = (name: string): string => `<${name.toLowerCase()}>`;

/** Query or form in which values of parameters with the name of a credential are placeholders. */
export const hideParameters = (query: string): string =>
  query
    .split('&')
    .map(pair => {
      const name = pair.split('=')[0]!;
      return isSecretParameter(name) ? `${name}=${encodeURIComponent(toPlaceholder(name))}` : pair;
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
    let isHidden = false;
    const hide = (name: string, value: unknown) => {
      if (!secretName.test(name)) return value;
      isHidden = true;
      return toPlaceholder(name);
    };
    const hidden = JSON.parse(body, hide);
    // Written again only where it has to be: large numbers lose digits.
    return isHidden ? JSON.stringify(hidden) : body;
  } catch {
    return /^[\w.+%*[\]-]+=[^\s<{]*$/.test(body) ? hideParameters(body) : body;
  }
}
