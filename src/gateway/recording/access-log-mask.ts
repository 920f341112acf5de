import { credentialMask, isSecretParameterName } from '../pipeline/mask-query.ts';

/** URL of another program, such as a referrer, without user information, query and fragment. */
export function stripUrlSecrets(url: string): string {
  const end = url.search(/[?#]/);
  const bare = end < 0 ? url : url.slice(0, end);
  return bare.includes('@') ? bare.replace(/^([^/]*\/\/)?[^/]*@/, '$1') : bare;
}

const jsonMember = /("([^"\\]{1,100})"\s*:\s*)(?:"(?:[^"\\]|\\.)*"?|[^\s",{}[\]]+)/g;
const formField = /(^|&)([^=&]{1,100})=[^&]*/g;

/** Start of a body as text, with credentials masked; empty without bytes. */
export function formatLoggedBody(
  bytes: Buffer | undefined,
  maxBytes: number,
  redact: (text: string) => string,
): string {
  if (bytes === undefined || bytes.length === 0) return '';
  // Secrets are masked in all of what is logged and the rest of a value that the bound would cut.
  const text = redact(bytes.toString('utf8', 0, Math.min(bytes.length, 2 * maxBytes)));
  const masked = text
    .replaceAll(jsonMember, (whole, start: string, name: string) =>
      isSecretParameterName(name) ? `${start}"${credentialMask}"` : whole,
    )
    .replaceAll(formField, (whole, before: string, name: string) =>
      isSecretParameterName(name) ? `${before}${name}=${credentialMask}` : whole,
    );
  return masked.slice(0, maxBytes);
}
