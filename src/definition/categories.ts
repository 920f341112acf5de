/** Categories are the words of an API name that begin with `#`: `Orders #shop #internal`. */
const categoryPattern = /(?:^|\s)#([^\s#]+)/g;

export function parseCategories(name: string): string[] {
  return [...new Set([...name.matchAll(categoryPattern)].map(match => match[1]!))];
}

/** Removes the categories from an API name. */
export function stripCategories(name: string): string {
  return name.replace(categoryPattern, ' ').replace(/\s+/g, ' ').trim();
}
