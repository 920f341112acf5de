import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkMcp } from './mcp.ts';
import { oasToModel } from './model.ts';

interface Parts {
  readonly info?: object;
  readonly server?: object;
  readonly middleware?: object;
  readonly more?: object;
}

const createDocument = ({ info, server, middleware, more }: Parts = {}) => ({
  openapi: '3.0.3',
  info: { title: 'Tools', version: '1' },
  paths: {},
  ...more,
  'x-gw-api-gateway': {
    info: { name: 'Tools', state: { active: true }, ...info },
    server: { listenPath: { value: '/tools/', strip: true }, ...server },
    upstream: { url: 'http://127.0.0.1:9/mcp' },
    ...(middleware ? { middleware } : {}),
  },
});

describe('Definition of MCP proxies', () => {
  const primitive = (feature: string, value: unknown = { enabled: true }) => ({
    middleware: { mcpTools: { a: { [feature]: value } } },
  });
  const unavailable = 'is not available for MCP proxies';
  const cases: readonly (readonly [title: string, parts: Parts, path: string, message: string])[] = [
    ...[
      'transformRequestMethod',
      'transformResponseBody',
      'urlRewrite',
      'internal',
      'cache',
      'validateRequest',
      'mockResponse',
    ].flatMap(feature => [
      [feature, primitive(feature), `middleware.mcpTools.a.${feature}`, unavailable] as const,
      [
        `${feature} of a method`,
        { middleware: { operations: { 'tools/listPOST': { [feature]: { enabled: true } } } } },
        `${feature}: ${unavailable}`,
        unavailable,
      ] as const,
    ]),
    [
      'response caching',
      { middleware: { global: { cache: { enabled: true } } } },
      'middleware.global.cache',
      unavailable,
    ],
    ['batch requests', { server: { batchProcessing: { enabled: true } } }, 'server.batchProcessing', unavailable],
    ['a TCP service', { server: { protocol: 'tcp', port: 9000 } }, 'server.protocol', 'for an MCP proxy'],
    ['another protocol', { info: { applicationProtocol: 'a2a' } }, 'info.applicationProtocol', 'must be mcp'],
    ['another version of JSON-RPC', { info: { jsonRpcVersion: '1.0' } }, 'info.jsonRpcVersion', 'must be 2.0'],
    [
      'an operation without a method',
      { middleware: { operations: { callTool: { block: { enabled: true } } } } },
      'operations.callTool',
      'no operation',
    ],
    ['an unknown feature', primitive('alow'), 'mcpTools.a.alow', 'did you mean allow?'],
    [
      'an unknown scheme',
      primitive('security', [{ oauth: ['a'] }]),
      'mcpTools.a.security[0]',
      'components.securitySchemes',
    ],
    [
      'a name in any case',
      primitive('allow', { enabled: true, ignoreCase: true }),
      'mcpTools.a.allow.ignoreCase',
      'case-sensitive',
    ],
    ['an empty name', { middleware: { mcpTools: { '': { block: { enabled: true } } } } }, 'mcpTools', 'must be a name'],
    [
      'a name twice in other characters',
      { middleware: { mcpPrompts: { 'caf\u00e9': { block: { enabled: true } }, 'cafe\u0301': {} } } },
      'mcpPrompts',
      'name of another entry',
    ],
  ];
  for (const [title, parts, path, message] of cases)
    test(`${title} is refused`, () => {
      const checked = checkMcp(createDocument(parts));
      assert.ok(!checked.ok);
      const text = checked.errors.map(error => `${error.path}: ${error.message}`).join('\n');
      assert.ok(text.includes(path) && text.includes(message), text);
    });

  test('the markers are added', () => {
    const checked = checkMcp(createDocument());
    assert.ok(checked.ok);
    const { applicationProtocol, jsonRpcVersion } = checked.definition['x-gw-api-gateway'].info;
    assert.deepEqual([applicationProtocol, jsonRpcVersion], ['mcp', '2.0']);
    assert.equal(oasToModel(checked.definition).format, 'mcp');
  });

  test('methods and primitives become entries of endpoint lists at virtual paths', () => {
    const enabled = { enabled: true };
    const middleware = {
      operations: {
        'tools/callPOST': { block: enabled },
        initializePOST: { block: enabled },
        'prompts/getPOST': { block: enabled },
        mcpPOST: { block: enabled },
      },
      mcpTools: { a: { block: enabled }, b: { block: { enabled: false } } },
      mcpResources: { 'file:///*': { block: enabled } },
      mcpPrompts: { p: { block: enabled, security: [] } },
    };
    const post = { post: { responses: {} } };
    const more = { paths: { '/mcp': post, '/prompts/get': post } };
    const checked = checkMcp(createDocument({ middleware, more }));
    assert.ok(checked.ok, JSON.stringify(checked));
    const model = oasToModel(checked.definition);
    assert.deepEqual(
      model.versions[0]!.endpoints.block.map(({ method, path }) => `${method} ${path}`),
      [
        'POST /mcp',
        'POST /json-rpc-method:tools/call',
        'POST /json-rpc-method:initialize',
        'POST /json-rpc-method:prompts/get',
        'POST /mcp-tool:a',
        'POST /mcp-resource:file:///*',
        'POST /mcp-prompt:p',
      ],
    );
    assert.deepEqual(model.mcp?.security, { '/mcp-prompt:p': [] });
    assert.deepEqual(model.mcp?.paths, ['/mcp-tool:a', '/mcp-tool:b', '/mcp-resource:file:///*', '/mcp-prompt:p']);
  });
});
