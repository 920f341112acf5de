import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Problem } from '#base/problems.ts';
import { convertText } from './convert-text.ts';

const maxBytes = 1_000_000;
const convert = (text: string) => convertText({ format: 'auto', text, maxBytes });
const pathsOf = (text: string) => convert(text).document.paths as ReturnType<typeof JSON.parse>;

/** A document, or a problem of the caller. */
function expectOutcome(text: string): void {
  try {
    assert.equal(typeof JSON.stringify(convert(text).document), 'string');
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    assert.ok(error.status < 500, error.message);
  }
}

const orders = `FORMAT: 1A
HOST: https://orders.example/v1

# Orders
All about *orders*.

- quick
- cheap

# Group Shop

## Orders [/orders{?page,sizes*}]

+ Parameters
    + page: 2 (number, optional) - Page of the list
        + Default: \`1\`
    + sizes (optional, array[string]) ... Sizes
        + Members
            + \`s\`
            + \`m\`

### List orders [GET]
Newest first.

+ Response 200 (application/json; charset=utf-8)

        [{"id": 17}]

### Create an order [POST]

+ Request Small (application/json)
    + Headers

            X-Trace: abc
            Authorization: Bearer x

    + Body

            {"item": "tea"}

    + Schema

            {"$schema": "x", "type": ["object", "null"], "properties": {"id": {"type": "string"}, "type": {"enum": [null]}}}

+ Request Large (application/json)

        {"item": "cake"}

+ Response 201

    Created.

    + Headers

            Location: /orders/17

+ Response 400 (text/plain)

    + Body

        \`\`\`
        # no header
        + Response 500
        \`\`\`

## Order [/orders/{id}]

+ Parameters
    + id = \`17\` (required, integer, \`18\`) ... Id

+ Model (application/json)

        {"id": 17}

### GET

+ Response 200

    [Order][]

### Remove [DELETE /orders/{id}/all]

+ Response 204

# GET /health

+ Response 200 (text/plain)

        ok
`;

describe('API Blueprint', () => {
  test('metadata, groups, resources and actions become servers, tags, paths and operations', () => {
    const { format, kind, document, warnings } = convert(orders);
    assert.deepEqual([format, kind, warnings], ['blueprint', 'openapi', []]);
    assert.deepEqual(
      [document.openapi, document.info, document.servers],
      [
        '3.0.3',
        { title: 'Orders', description: 'All about *orders*.\n\n- quick\n- cheap', version: '1.0.0' },
        [{ url: 'https://orders.example/v1' }],
      ],
    );
    const paths = document.paths as Record<string, Record<string, Record<string, unknown>>>;
    assert.deepEqual(
      Object.entries(paths).map(([path, operations]) => [path, Object.keys(operations)]),
      [
        ['/orders', ['get', 'post']],
        ['/orders/{id}', ['get']],
        ['/orders/{id}/all', ['delete']],
        ['/health', ['get']],
      ],
    );
    const { get } = paths['/orders']!;
    assert.deepEqual([get!.summary, get!.description, get!.tags], ['List orders', 'Newest first.', ['Shop']]);
  });

  test('parameters of URI templates have their place, type, default, members and example', () => {
    const paths = pathsOf(orders);
    assert.deepEqual(paths['/orders'].get.parameters, [
      {
        ...{ name: 'page', in: 'query', required: false, description: 'Page of the list' },
        schema: { type: 'number', default: 1 },
        example: 2,
      },
      {
        ...{ name: 'sizes', in: 'query', required: false, description: 'Sizes' },
        schema: { type: 'array', items: { type: 'string' }, enum: ['s', 'm'] },
      },
    ]);
    assert.deepEqual(paths['/orders/{id}'].get.parameters, [
      {
        ...{ name: 'id', in: 'path', required: true, description: 'Id' },
        schema: { type: 'integer', default: 17 },
        example: 18,
      },
    ]);
  });

  test('requests and responses have headers, examples and schemas, and models are resolved', () => {
    const paths = pathsOf(orders);
    const { post } = paths['/orders'];
    assert.deepEqual(
      post.parameters.filter((it: { in: string }) => it.in === 'header').map((it: { name: string }) => it.name),
      ['X-Trace'],
    );
    assert.deepEqual(post.requestBody.content['application/json'], {
      schema: {
        type: 'object',
        properties: { id: { type: 'string' }, type: { enum: [null] } },
        nullable: true,
      },
      examples: { Small: { value: { item: 'tea' } }, Large: { value: { item: 'cake' } } },
    });
    assert.deepEqual(post.responses['201'], {
      description: 'Created.',
      headers: { Location: { schema: { type: 'string' }, example: '/orders/17' } },
    });
    assert.equal(post.responses['400'].content['text/plain'].example, '# no header\n+ Response 500');
    assert.deepEqual(paths['/orders/{id}'].get.responses['200'].content, {
      'application/json': { example: { id: 17 } },
    });
    assert.deepEqual(paths['/orders'].get.responses['200'].content, { 'application/json': { example: [{ id: 17 }] } });
  });

  test('parts without an equal in OpenAPI are named with their line', () => {
    const { warnings } = convert(
      [
        'FORMAT: 1A',
        '# A',
        '# Group B',
        '## /a{#part}',
        '### LINK',
        '### GET',
        '+ Attributes (object)',
        '+ Parameters',
        '    + none (string)',
        '+ Response 200 (application/json)',
        '',
        '        {"broken": ',
        '### GET',
        '# Data Structures',
        '## Order (object)',
      ].join('\n'),
    );
    assert.deepEqual(warnings, [
      'line 14: data structures are not converted',
      'line 7: attribute sections are not converted',
      'line 10: the body is no JSON; it is an example as text',
      'line 5: the fragment of /a{#part} is left out',
      'line 5: LINK is left out: OpenAPI has no such method',
      'line 6: the fragment of /a{#part} is left out',
      'line 9: the parameter none is not in the URI; it is left out',
      'line 13: the fragment of /a{#part} is left out',
      'line 13: another GET /a is left out',
      'the document has no HOST with http or https: set the upstream',
    ]);
  });

  test('what is not understood is refused with its line', () => {
    const get = 'FORMAT: 1A\n# A\n## /a\n### GET\n';
    for (const [text, reason] of [
      ['FORMAT: 1A\n# A', /^text: it has no action/],
      ['FORMAT: 1A9\n# A', /^text: line 1: the format 1A9 is not supported/],
      ['FORMAT: 1A\nhello\n# A', /^text: line 2: text before the first header: hello/],
      ['FORMAT: 1A\n# A\n# Group B\n### GET', /^text: line 4: GET has no resource above it/],
      ['FORMAT: 1A\n# A\n## /a\n+ Response 200', /^text: line 4: Response 200 needs an action/],
      [`${get}+ Body`, /^text: line 5: Body needs a request or response/],
      [`${get}+ Response 20`, /^text: line 5: 20 is no status/],
      [`${get}+ Response 200 (json)`, /^text: line 5: json is no media type/],
      [`${get}+ Response 200\n+ Answer 404`, /^text: line 6: the section Answer 404 is unknown/],
      [`${get}+ Response 200\n    + Headers\n\n            none`, /^text: line 8: none is no header/],
      [`${get}+ Response 200\n    + Schema\n\n            [1]`, /^text: line 6: the schema must be an object/],
      [`${get}+ Response 200\n    + Schema\n\n            {"$ref": "#/a"}`, /^text: line 6: references in schemas/],
      [`${get}+ Response 200\n\n    [Other][]`, /^text: line 5: the model Other is unknown/],
      [`${get}+ Parameters\n    + a (text)`, /^text: line 6: the attribute text of the parameter/],
      [`${get}+ Parameters\n    + (text)`, /^text: line 6: the parameter \(text\) has no name/],
      ['FORMAT: 1A\n# A\n## /a{b\n### GET', /^text: line 4: the URI \/a{b has { without }/],
      ['FORMAT: 1A\n# A\n## /a{b,c}\n### GET', /^text: line 4: the expression {b,c} of the URI/],
      ['FORMAT: 1A\n# A\n## /a{;b}\n### GET', /^text: line 4: the expression {;b} of the URI/],
    ] as const)
      assert.throws(() => convert(text), { message: reason }, text);
  });

  test('numbers of lines, actions and parameters, and copies of models, are bounded', () => {
    const head = 'FORMAT: 1A\n# A\n';
    assert.throws(() => convert(head + '\n'.repeat(200_001)), { message: /more than 200000 lines/ });
    const many = Array.from({ length: 5001 }, (_, n) => `## GET /a${n}`).join('\n');
    assert.throws(() => convert(head + many), { message: /more than 5000 actions/ });
    const wide = Array.from({ length: 200 }, (_, n) => `p${n}`).join();
    const actions = Array.from({ length: 60 }, (_, n) => `## GET /a${n}{?${wide}}`).join('\n');
    assert.throws(() => convert(head + actions), { message: /more than 10000 parameters/ });
    const model = `## M [/m]\n+ Model (text/plain)\n\n        ${'x'.repeat(100_000)}\n`;
    const uses = Array.from({ length: 20 }, (_, n) => `## GET /u${n}\n+ Response 200\n\n    [M][]\n`).join('\n');
    assert.throws(() => convert(head + model + uses), { message: /the models are used too often/ });
  });

  test('long lines of any sign are converted or refused', () => {
    for (const sign of ['[', '(', '`', '#', ' ', '{', '- ', '\t', '=', '...', '[a][']) {
      const long = sign.repeat(100_000 / sign.length);
      const lines = [`## ${long}`, `## A ${long}`, `+ Response ${long}`, `+ Parameters\n    + ${long}`];
      for (const text of lines) expectOutcome(`FORMAT: 1A\n# A\n## GET /a\n${text}`);
    }
  });

  test('any lines are converted or refused, never an internal error', () => {
    const pieces = orders.split('\n');
    const line = fc.oneof(
      fc.constantFrom(...pieces),
      fc.tuple(fc.constantFrom(...pieces), fc.string()).map(([piece, text]) => piece + text),
      fc.tuple(fc.constantFrom('', '#', '## ', '+ ', '    + ', '        '), fc.string()).map(parts => parts.join('')),
      fc.constantFrom(
        '```',
        '+ Response __proto__',
        '## __proto__ [/__proto__/{__proto__}]',
        '[__proto__][]',
        '{"__proto__": 1}',
      ),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 60 }), lines => {
        expectOutcome(`FORMAT: 1A\n${lines.join('\n')}`);
      }),
      { numRuns: 1500 },
    );
  });
});
