/** A field of an object type of a schema. */
export interface GraphField {
  readonly type: string;
  readonly name: string;
  /** As written, without parentheses. */
  readonly args: string;
  /** Type of its value. */
  readonly value: string;
}

/** Descriptions, other strings and comments, which may contain anything (GraphQL specification, section 2). */
export const textOrComment = /"""(?:\\"""|[\s\S])*?"""|"(?:\\.|[^"\\\n])*"|#[^\n]*/g;
const typePattern = /\b(?:extend\s+)?type\s+(\w+)[^{]*\{([^}]*)\}/g;
const fieldPattern = /(\w+)\s*(?:\((\d+)\))?\s*:\s*([\w![\]]+)/g;

/** Fields of the object types of a schema, in its order. Descriptions and comments may contain anything. */
export function listGraphFields(schema: string): readonly GraphField[] {
  const args: string[] = [];
  // Arguments have colons and braces of their own: a number takes their place.
  const plain = schema.replaceAll(textOrComment, ' ').replaceAll(/\(([^()]*)\)/g, (_match, text: string) => {
    args.push(text.trim().replaceAll(/\s+/g, ' '));
    return `(${args.length - 1})`;
  });
  return [...plain.matchAll(typePattern)].flatMap(([, type = '', body = '']) =>
    [...body.matchAll(fieldPattern)].map(([, name = '', place, value = '']) => ({
      type,
      name,
      args: place === undefined ? '' : (args[Number(place)] ?? ''),
      value,
    })),
  );
}

const rootTypes: ReadonlySet<string> = new Set(['Query', 'Mutation', 'Subscription']);

/** Its value has no object above it that could have it. */
export const isRootField = ({ type }: Pick<GraphField, 'type'>): boolean => rootTypes.has(type);
