/** Names of GraphQL (specification, section 2.1.9), each used once. */
export interface GraphNames {
  take(wanted: string): string;
}

const maxNameLength = 100;
const namePattern = /^(?!__)[A-Za-z_]\w*$/;

export const isGraphqlName = (name: string): boolean => name.length <= maxNameLength && namePattern.test(name);

/** A name with the words of a text, in camel case: `get /pets/{id}` is `getPetsId`. */
export function toGraphqlName(text: string): string {
  if (isGraphqlName(text)) return text;
  const words = text.slice(0, maxNameLength).match(/[A-Za-z0-9]+/g) ?? [];
  const name = words.map((word, at) => (at === 0 ? word : word[0]!.toUpperCase() + word.slice(1))).join('');
  return /^[A-Za-z]/.test(name) ? name : `_${name}`;
}

export const toTypeName = (text: string): string => {
  const name = toGraphqlName(text);
  return name[0]!.toUpperCase() + name.slice(1);
};

export function createGraphNames(reserved: readonly string[] = []): GraphNames {
  const taken = new Set(reserved);
  return {
    take(wanted) {
      let name = wanted;
      for (let number = 2; taken.has(name); number++) name = `${wanted}${number}`;
      taken.add(name);
      return name;
    },
  };
}
