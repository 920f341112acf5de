import { brotliCompressSync, gzipSync } from 'node:zlib';

/** A definition that tries to hang, exhaust or mislead the gateway, or such a body for a harmless definition. */
export interface Document {
  /** Members of a classic definition. */
  readonly classic?: object;
  /** Or the paths of an OpenAPI document whose one operation is `x`, with the middleware of that operation. */
  readonly oas?: { readonly paths: object; readonly components?: object; readonly operation: object };
  readonly body?: string | Buffer;
  /** Response of the upstream instead of the echo. */
  readonly upstream?: { readonly headers: Record<string, string>; readonly body: Buffer };
  /** Allowed statuses of the response; the definition may be refused in any case. */
  readonly answers: readonly number[];
}

const lists = (extended_paths: object) => ({
  version_data: {
    not_versioned: true,
    versions: { Default: { name: 'Default', use_extended_paths: true, extended_paths } },
  },
});
const place = { path: '/x', method: 'POST' };
const base64 = (text: string) => Buffer.from(text).toString('base64');
const templateData = (template: string, input_type: string) => ({
  input_type,
  template_mode: 'blob',
  template_source: base64(template),
});

const refused = [400, 413, 500, 503];

/** A template for request bodies. */
const template = (source: string, body = '{}', answers: readonly number[] = refused): Document => ({
  classic: lists({ transform: [{ ...place, template_data: templateData(source, 'json') }] }),
  body,
  answers,
});

/** A body that cannot be parsed is forwarded unchanged, never longer. */
const xml = (body: string): Document => ({
  classic: lists({ transform: [{ ...place, template_data: templateData('{{len .a}}', 'xml') }] }),
  body,
  answers: [200, ...refused],
});

/** A template for response bodies. */
const unpacking = (coding: string, body: Buffer): Document => ({
  classic: lists({ transform_response: [{ ...place, template_data: templateData('{{len .array}}', 'json') }] }),
  upstream: { headers: { 'content-type': 'application/json', 'content-encoding': coding }, body },
  answers: [500],
});

const schema = (given: object, body: string, answers: readonly number[]): Document => ({
  classic: lists({ validate_json: [{ ...place, schema: given }] }),
  body,
  answers,
});

/** Each of them holds the one before it several times. */
const doubling = (count: number, hold: (reference: object) => object, first: object) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`d${at}`, at === 0 ? first : hold({ $ref: `#/$defs/d${at - 1}` })]),
  );

const mock = (given: object, schemas: object = {}): Document => ({
  oas: {
    paths: {
      '/x': {
        post: {
          operationId: 'x',
          responses: { 200: { description: '', content: { 'application/json': { schema: given } } } },
        },
      },
    },
    components: { schemas },
    operation: { mockResponse: { enabled: true, fromOASExamples: { enabled: true } } },
  },
  answers: [200, 503],
});

const millions = 9_000_000;
const bomb = Buffer.alloc(100_000_000, '[');

export const templates: Readonly<Record<string, Document>> = {
  'a text a billion times': template('{{repeat 1000000000 "a"}}'),
  'a text that doubles': template('{{$s := "a"}}{{range until 60}}{{$s = printf "%s%s" $s $s}}{{end}}{{$s}}'),
  'a list that doubles': template('{{$l := list 1}}{{range until 60}}{{$l = concat $l $l}}{{end}}{{len $l}}'),
  'a map of maps of maps': template('{{$d := dict}}{{range until 40}}{{$d = dict "a" $d "b" $d}}{{end}}{{toJson $d}}'),
  'the same as XML': template('{{$d := dict}}{{range until 40}}{{$d = dict "a" $d "b" $d}}{{end}}{{xmlMarshal $d}}'),
  'a map that holds itself': template('{{$d := dict "a" 1}}{{$_ := set $d "d" $d}}{{toJson $d}}'),
  'loops in loops in loops': template(
    '{{range until 1000}}{{range until 1000}}{{range until 1000}}x{{end}}{{end}}{{end}}',
  ),
  'a template that calls itself': template('{{define "a"}}{{template "a" .}}{{end}}{{template "a" .}}'),
  'fifty megabytes': template('{{range until 1000}}{{repeat 50000 "x"}}{{end}}'),
  'a number a billion wide': template('{{printf "%1000000000d" 1}}', '{}', [200, ...refused]),
  'a thousand patterns': template('{{range until 10000}}{{regexMatch (printf "(a?){500}b%d" .) "aaaa"}}{{end}}'),
  'a pattern on a long text': template('{{regexMatch "(a+)+$" (repeat 9000000 "a")}}', '{}', [200, ...refused]),
  'everything sorted again and again': template(
    '{{range until 1000}}{{sortAlpha (splitList "" (repeat 100000 "ba")) | len}}{{end}}',
  ),
  'the path of a caller who climbs': template('{{clean .p}}', JSON.stringify({ p: '../'.repeat(millions / 3) })),
  'brackets fifty thousand deep': template(`{{${'('.repeat(50_000)}1${')'.repeat(50_000)}}}`),
  'conditions fifty thousand deep': template('{{if 1}}'.repeat(50_000) + '{{end}}'.repeat(50_000)),
  'an action without an end': template('{{range'),
};

export const bodies: Readonly<Record<string, Document>> = {
  'a number of millions of digits': template('{{.n}}', `{"n": ${'9'.repeat(millions)}}`),
  'a long number among millions': template('{{len .array}}', `[${'1,'.repeat(millions / 2)}12345678901234567890]`),
  'lists millions deep': template('{{toJson .}}', '['.repeat(millions / 2) + ']'.repeat(millions / 2)),
  'names of the language': template(
    '{{.constructor}}{{.toString}}{{.hasOwnProperty}}',
    '{"__proto__": {"constructor": "canary"}}',
    [200],
  ),
  'a billion laughs': xml(
    `<!DOCTYPE a [<!ENTITY b "ha">${Array.from({ length: 30 }, (_, at) => `<!ENTITY b${at} "&b;&b;">`).join('')}]><a>&b29;</a>`,
  ),
  'a file in XML': xml('<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'),
  'elements a million deep': xml('<a>'.repeat(1_000_000)),
  'millions of elements': xml(`<a>${'<b/>'.repeat(millions / 4)}</a>`),
  'a name without an end': xml(`<${'a'.repeat(millions)}`),
  'a gzip bomb': unpacking('gzip', gzipSync(bomb)),
  'a gzip bomb in a gzip bomb': unpacking('gzip, gzip', gzipSync(gzipSync(bomb))),
  'a brotli bomb': unpacking('br', brotliCompressSync(bomb)),
};

export const schemas: Readonly<Record<string, Document>> = {
  'choices of choices': schema(
    { $ref: '#/$defs/d39', $defs: doubling(40, it => ({ anyOf: [it, it] }), { type: 'string' }) },
    '1',
    [422],
  ),
  'exclusions of exclusions': schema(
    { $ref: '#/$defs/d39', $defs: doubling(40, it => ({ not: { oneOf: [it, it, it] } }), { type: 'string' }) },
    '1',
    [422, 503],
  ),
  'a schema that is itself': schema({ $ref: '#' }, '1', [503]),
  'a schema twenty thousand deep': {
    classic: lists({
      validate_json: [{ ...place, schema_b64: base64(`${'{"items":'.repeat(20_000)}{}${'}'.repeat(20_000)}`) }],
    }),
    body: '[]',
    answers: [503],
  },
  'tens of thousands of schemas': schema(
    { properties: Object.fromEntries(Array.from({ length: 30_000 }, (_, at) => [`p${at}`, { type: 'string' }])) },
    '{}',
    [503],
  ),
  'repeats of repeats in a long text': schema({ pattern: '^(a+)+$' }, `"${'a'.repeat(millions)}!"`, [422]),
  'a pattern as large as can be': schema({ pattern: '(a{1000}){1000}' }, '"a"', [503]),
  'names by patterns': schema(
    { patternProperties: Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`(a?){50}b${at}$`, false])) },
    JSON.stringify(Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`${'a'.repeat(500)}${at}`, 1]))),
    [200, 422],
  ),
  'items that are all different': schema(
    { uniqueItems: true },
    `[${Array.from({ length: 150_000 }, (_, at) => `{"a":${at}}`).join()}]`,
    [200, 400, 422],
  ),
  'an address of megabytes': schema({ format: 'uri' }, `"a:${'a'.repeat(millions)}"`, [422]),
  'members of one name': schema({ properties: { a: { const: 1 } } }, '{"a": 2, "a": 1}', [400, 422]),
  'a schema somewhere else': schema({ $ref: 'http://127.0.0.1:9/schema.json' }, '1', [503]),
  'a schema in a file': schema({ $ref: 'file:///etc/passwd' }, '1', [503]),
  'an example that holds itself': mock(
    { $ref: '#/components/schemas/a' },
    { a: { type: 'object', required: ['a'], properties: { a: { $ref: '#/components/schemas/a' } } } },
  ),
  'an example of billions': mock(
    { $ref: '#/components/schemas/d0' },
    Object.fromEntries(
      Array.from({ length: 9 }, (_, at) => [
        `d${at}`,
        {
          type: 'object',
          properties: Object.fromEntries(
            Array.from({ length: 20 }, (_, name) => [
              `p${name}`,
              at === 8 ? { type: 'string' } : { $ref: `#/components/schemas/d${at + 1}` },
            ]),
          ),
        },
      ]),
    ),
  ),
  'an example as long as it likes': mock({ type: 'string', minLength: 1_000_000_000 }),
  'a list as long as it likes': mock({ type: 'array', minItems: 1_000_000_000, items: { type: 'string' } }),
  'an example that goes round': mock(
    { $ref: '#/components/schemas/a' },
    { a: { $ref: '#/components/schemas/b' }, b: { $ref: '#/components/schemas/a' } },
  ),
};
