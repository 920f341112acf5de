/** Trims characters at both ends in linear time; a regular expression for the end takes quadratic time. */
export function trimCharacters(text: string, characters: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && characters.includes(text[start]!)) start += 1;
  while (end > start && characters.includes(text[end - 1]!)) end -= 1;
  return text.slice(start, end);
}
