import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exportFileName, toPublicDocument } from './oas-export.ts';
import type { OasDefinition } from './wire-types.ts';

const document: OasDefinition = {
  openapi: '3.0.3',
  info: { title: 'A', version: '1', 'x-own': 1 },
  paths: {},
  'x-author': 'kept',
  'x-gw-streaming': { streams: {} },
  'x-gw-api-gateway': {
    info: { name: 'A' },
    upstream: { url: 'https://inside.example.org/v1/' },
    server: { listenPath: { value: '/a/' } },
  },
};

test('a public document has no gateway members, and servers that point to the gateway', () => {
  const servers = [
    { url: 'https://{host}/v1', variables: { host: { default: 'INSIDE.example.org' } } },
    { url: 'https://docs.example.org', description: 'elsewhere' },
    { url: 'https://gw.example.org/a' },
  ];
  assert.deepEqual(toPublicDocument({ ...document, servers }, ['https://gw.example.org/a/']), {
    openapi: '3.0.3',
    info: document.info,
    paths: {},
    'x-author': 'kept',
    servers: [{ url: 'https://gw.example.org/a/' }, { url: 'https://docs.example.org', description: 'elsewhere' }],
  });
  assert.equal('servers' in toPublicDocument(document, []), false);
});

test('an export file name has the format and the API id', () => {
  assert.deepEqual(
    [exportFileName('a1', false), exportFileName('', false), exportFileName('a1', true), exportFileName('', true)],
    ['GwOasApiDef-a1.json', 'GwOasApiDef.json', 'oas-a1.json', 'oas.json'],
  );
});
