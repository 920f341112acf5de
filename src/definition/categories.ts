/** The categories of an API are the words of its name that begin with `#`: `Orders #shop #internal`. */
const category = /(?:^|\s)#([^\s#]+)/g;

export function categoriesOf(name: string): string[] {
  return [...new Set([...name.matchAll(category)].map(match => match[1]!))];
}

/** The name as people call the API, without its categories. */
export function plainNameOf(name: string): string {
  return name.replace(category, ' ').replace(/\s+/g, ' ').trim();
}
