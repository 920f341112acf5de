/** Organisation that a key names: keys are a JSON token in base64, or begin with the id of the organisation. */
export const readKeyOrganisation = (key: string): string | undefined =>
  readTokenOrganisation(key) ?? /^[0-9a-fA-F]{24}(?=.)/.exec(key)?.[0];

/** Organisation of a key in JSON form. Such a key is valid in that organisation only. */
export function readTokenOrganisation(key: string): string | undefined {
  if (!/^ey[A-Za-z0-9+/]*={0,2}$/.test(key)) return undefined;
  try {
    const { org } = JSON.parse(Buffer.from(key, 'base64').toString()) as { org?: unknown };
    return typeof org === 'string' ? org : undefined;
  } catch {
    // An opaque key that looks like base64.
    return undefined;
  }
}
