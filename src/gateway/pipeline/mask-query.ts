import { isSecretName } from '#base/secret-names.ts';
import type { Exchange } from './exchange.ts';

/** Text in place of a credential, in queries, headers and bodies. */
export const credentialMask = '***';

/** Names of parameters and members of request bodies that hold credentials by convention, beside those of secrets. */
const credentialName = /token|credential|^(?:key|auth|authorization|code|sig|signature|assertion|jwt|pin)$/i;

export const isSecretParameterName = (name: string): boolean => isSecretName(name) || credentialName.test(name);

/**
 * Query of the received target, for logs and spans: values of credential parameters are masked. Empty without a query,
 * and where the parameters that hold credentials are unknown: without an API, or after a loop from one with others.
 */
export function readMaskedQuery(
  { target, loopCount, versionHops }: Exchange,
  parameters: readonly string[] | undefined,
): string {
  const at = target.indexOf('?');
  return at < 0 || parameters === undefined || loopCount + versionHops > 0
    ? ''
    : maskQuery(target.slice(at + 1), parameters);
}

/** A query in which values of credential parameters are masked: those of the API and those with a conventional name. */
function maskQuery(query: string, parameters: readonly string[]): string {
  return query
    .split('&')
    .map(pair => {
      const end = pair.indexOf('=');
      const name = decodeName(end < 0 ? pair : pair.slice(0, end));
      // An upstream may decode it in another way.
      if (name === undefined) return credentialMask;
      return parameters.includes(name) || isSecretParameterName(name)
        ? `${encodeURIComponent(name)}=${credentialMask}`
        : pair;
    })
    .join('&');
}

/** Undefined for a name that is not decodable. */
function decodeName(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
