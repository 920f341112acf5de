/** A graph over three REST sources: the lists and objects of one operation need three requests. */
export const benchGraph = (upstream: string): Record<string, unknown> => {
  const source = (name: string, type: string, field: string) => ({
    kind: 'REST',
    name,
    root_fields: [{ type, fields: [field] }],
    config: { url: `${upstream}/small?source=${name}`, method: 'GET' },
  });
  const whole = (type_name: string, field_name: string) => ({
    type_name,
    field_name,
    disable_default_mapping: true,
    path: [],
  });
  return {
    enabled: true,
    execution_mode: 'executionEngine',
    version: '2',
    schema: 'scalar JSON type Part { all: JSON } type Query { one: Part two: Part three: Part }',
    engine: {
      data_sources: [source('one', 'Query', 'one'), source('two', 'Query', 'two'), source('three', 'Query', 'three')],
      field_configs: [whole('Query', 'one'), whole('Query', 'two'), whole('Query', 'three'), whole('Part', 'all')],
    },
  };
};

const query = '{ one { all } two { all } three { all } }';
const maxAttempts = 100;
const attemptIntervalMs = 100;

/** Address of a query, once its result is whole: one with errors has the status 200 too. */
export async function confirmResult(api: string, document: string, expected: string): Promise<string> {
  const url = `${api}?query=${encodeURIComponent(document)}`;
  let text = '';
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    text = await (await fetch(url)).text();
    if (text === expected) return url;
    await new Promise(resolve => setTimeout(resolve, attemptIntervalMs));
  }
  throw new Error(`the graph responds with ${text}`);
}

export function confirmGraph(api: string): Promise<string> {
  const part = { all: { hello: 'world' } };
  return confirmResult(api, query, JSON.stringify({ data: { one: part, two: part, three: part } }));
}
