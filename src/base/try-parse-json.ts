/** Parses text that may not be JSON: undefined where it is not, which no JSON text stands for. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
