/** The categories of an API are the words of its name that begin with `#`: `Orders #shop #internal`. */
const categoryPattern = /(?:^|\s)#([^\s#]+)/g;

export function parseCategories(name: string): string[] {
  return [...new Set([...name.matchAll(categoryPattern)].map(match => match[1]!))];
}

/** The name as people call the API, without its categories. */
export function stripCategories(name: string): string {
  return name.replace(categoryPattern, ' ').replace(/\s+/g, ' ').trim();
}
