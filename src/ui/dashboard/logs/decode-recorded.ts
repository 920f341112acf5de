/** Base64 to text: UTF-8, with a mark in place of other bytes. */
export function decodeRecorded(encoded: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(encoded), char => char.charCodeAt(0)));
  } catch {
    return encoded;
  }
}
