import type { CodeOutline } from '../../../kit/code-types.ts';
import { type FormSchema, findSchema, unwrapSchema } from './form-schema.ts';

const listTypes = ({ type }: FormSchema): readonly string[] => [type ?? []].flat().filter(it => it !== 'null');

function toValues(schema: FormSchema): readonly string[] {
  if (schema.enum) return schema.enum.map(value => JSON.stringify(value));
  return listTypes(schema).includes('boolean') ? ['true', 'false'] : [];
}

/** Members and values of a schema, for completion in an editor. */
export function toCodeOutline(root: FormSchema): CodeOutline {
  const find = (path: readonly (string | number)[]) => {
    const found = findSchema(root, path);
    return found && unwrapSchema(found);
  };
  return {
    listMembers: path =>
      Object.entries(find(path)?.properties ?? {}).map(([name, schema]) => {
        const member = unwrapSchema(schema);
        return { name, type: listTypes(member).join(' or '), about: schema.description ?? member.description ?? '' };
      }),
    listValues: path => {
      const schema = find(path);
      return schema ? toValues(schema) : [];
    },
  };
}
