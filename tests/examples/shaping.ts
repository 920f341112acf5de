import assert from 'node:assert/strict';
import { eventually } from '../support/upstream.ts';
import type { Example } from './example.ts';

/** Calls and answers that are changed, checked or made up on their way. */

const json = { 'Content-Type': 'application/json' };

export const shaping: Readonly<Record<string, Example>> = {
  headers: {
    answer(_request, response) {
      response.writeHead(200, { 'x-powered-by': 'old things', 'set-cookie': 'a=b' }).end('[]');
    },
    calls: [
      {
        ask: 'GET /hotels/rooms',
        headers: { Cookie: 'a=b', 'X-Debug': '1' },
        status: 200,
        sees: { 'x-source': 'gateway', 'x-kind': 'rooms', cookie: null, 'x-debug': null },
        tells: {
          'strict-transport-security': 'max-age=31536000',
          'cache-control': 'max-age=60',
          'x-powered-by': null,
          'set-cookie': null,
        },
      },
    ],
  },
  'body-json': {
    answer: (_request, response) => void response.end('{"id": 7, "paid": true}'),
    calls: [
      {
        ask: 'POST /checkout/orders',
        headers: json,
        body: '{"name": "Ann", "items": ["tea", "milk"]}',
        status: 200,
        gets: /^\{"customer": "Ann", "lines": 2\}$/,
        says: /^\{"order": 7, "state": "paid"\}$/,
      },
    ],
  },
  'body-xml': {
    answer: (_request, response) => void response.end('{"id": 7, "state": "taken"}'),
    calls: [
      {
        ask: 'POST /suppliers/orders',
        headers: { 'Content-Type': 'application/xml' },
        body: '<order><id>7</id><item>tea</item></order>',
        status: 200,
        gets: /^\{"id": 7, "item": "tea"\}$/,
        sees: { 'content-type': 'application/json' },
        says: /^<order><id>7<\/id><state>taken<\/state><\/order>$/,
        tells: { 'content-type': 'application/xml' },
      },
    ],
  },
  'data-graph': {
    shows: 'One GraphQL schema over several APIs: fields have their values from data sources.',
    answer: ({ url = '' }, response) => {
      if (url.startsWith('/events'))
        return response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .end('event: next\ndata: {"data":{"placed":{"id":"12","gw__customer_id":"7"}}}\n\nevent: complete\n\n');
      const order = { id: url.split('/')[2], customer_id: '7' };
      const value = url.startsWith('/orders/') ? order : { customer: { name: 'Ann' } };
      response.writeHead(200, json).end(JSON.stringify(value));
    },
    calls: [
      {
        ask: 'POST /shop-graph/',
        headers: json,
        body: '{"query":"{ order(id: 12) { id customer { name } shipment { url } } }"}',
        status: 200,
        reaches: 'GET /customers/7',
        sees: { 'x-client': 'gateway' },
        says: /^\{"data":\{"order":\{"id":"12","customer":\{"name":"Ann"\},"shipment":\{"url":"\/shipments\?order=12"\}\}\}\}$/,
      },
      {
        ask: 'POST /shop-graph/',
        headers: json,
        body: '{"query":"{ order(id: \\"..\\") { id } }"}',
        status: 200,
        says: /an argument is no segment of a path/,
        reaches: null,
      },
      {
        ask: 'POST /shop-graph/',
        headers: { ...json, accept: 'text/event-stream' },
        body: '{"query":"subscription { placed { id customer { name } } }"}',
        status: 200,
        reaches: 'GET /customers/7',
        says: /^event: next\ndata: \{"data":\{"placed":\{"id":"12","customer":\{"name":"Ann"\}\}\}\}\n\nevent: complete\ndata: \n\n$/,
        tells: { 'content-type': 'text/event-stream' },
      },
    ],
  },
  supergraph: {
    shows: 'Several GraphQL subgraphs as one API: composed when written, entities joined by their keys.',
    answer: ({ url = '' }, response) => {
      const entities = { data: { _entities: [{ stars: 5 }] } };
      const books = { data: { books: [{ __typename: 'Book', id: '1', title: 'Emma' }] } };
      response.writeHead(200, json).end(JSON.stringify(url === '/ratings' ? entities : books));
    },
    calls: [
      {
        ask: 'POST /reading/',
        headers: json,
        body: '{"query":"{ books { title stars } }"}',
        status: 200,
        reaches: 'POST /ratings',
        gets: /"representations":\[\{"__typename":"Book","id":"1"\}\]/,
        sees: { 'x-team': 'ratings' },
        says: /^\{"data":\{"books":\[\{"title":"Emma","stars":5\}\]\}\}$/,
      },
      {
        ask: 'POST /reading/',
        headers: json,
        body: '{"query":"{ books { price } }"}',
        status: 400,
        says: /field: price not defined on type: Book/,
        reaches: null,
      },
    ],
  },
  graphql: {
    shows: 'GraphQL documents are validated against a schema before they reach the upstream.',
    answer: (_request, response) => void response.writeHead(200, json).end('{"data":{"books":[{"title":"Emma"}]}}'),
    calls: [
      {
        ask: 'POST /library/',
        headers: json,
        body: '{"query":"{ books { title } }"}',
        status: 200,
        gets: /^\{"query":"\{ books \{ title \} \}"\}$/,
        says: /Emma/,
      },
      {
        ask: 'GET /library/titles',
        status: 200,
        reaches: 'POST /',
        gets: /^\{"query":"\{ books \{ title \} \}","variables":\{\}\}$/,
        sees: { 'x-client': 'gateway' },
      },
      {
        ask: 'POST /library/',
        headers: json,
        body: '{"query":"{ books { price } }"}',
        status: 400,
        says: /field: price not defined on type: Book/,
        reaches: null,
      },
      {
        ask: 'POST /library/',
        headers: json,
        body: '{"query":"{ __schema { queryType { name } } }"}',
        status: 403,
        says: /introspection is disabled/,
        reaches: null,
      },
    ],
  },
  'body-jq': {
    shows: 'jq filters rewrite bodies, and set headers from values in them.',
    answer(_request, response) {
      response.writeHead(200, json).end('{"id": 7, "secret": "s"}');
    },
    calls: [
      {
        ask: 'POST /ledger/entries',
        headers: json,
        body: '{"items": [{"price": 2}, {"price": 3.5}]}',
        status: 200,
        gets: /^\{"total":5\.5,"from":"127\.0\.0\.1"\}$/,
        sees: { 'x-items': '2' },
        says: /^\{"id":7\}$/,
        tells: { 'x-kind': 'application/json' },
      },
    ],
  },
  rewrite: {
    calls: [
      { ask: 'GET /users/ann/orders', status: 200, reaches: 'GET /orders?user=ann' },
      {
        ask: 'GET /users/ann/orders',
        headers: { 'X-Trial': 'yes' },
        status: 200,
        reaches: 'GET /trial/ann',
        elsewhere: true,
      },
      { ask: 'GET /users/ann/orders?year=1999', status: 200, reaches: 'GET /orders?user=ann&year=1999' },
    ],
  },
  method: { calls: [{ ask: 'GET /lookups/rates', status: 200, reaches: 'POST /rates' }] },
  'context-variables': {
    calls: [
      {
        ask: 'GET /visits/new?place=oslo',
        status: 200,
        sees: { 'x-caller': '127.0.0.1', 'x-place': 'oslo', 'x-request-id': /./ },
      },
    ],
  },
  'metadata-variables': {
    after: async (at, id) => ({ KEY: await at.key(id, { meta_data: { tenant: 'acme' } }) }),
    calls: [
      {
        ask: 'GET /tenants/invoices',
        headers: { Authorization: '$KEY', 'X-Tenant': 'another' },
        status: 200,
        sees: { 'x-tenant': 'acme' },
      },
    ],
  },
  secrets: {
    calls: [{ ask: 'GET /geocoding/find', status: 200, sees: { 'x-upstream-key': 'a-key-of-the-operator' } }],
  },
  'response-processors': {
    shows: 'Headers set on every response, and upstream redirects rewritten to the gateway.',
    answer(request, response) {
      const location = `http://${request.headers.host}/files/7`;
      response.writeHead(302, { location, server: 'old things' }).end();
    },
    calls: [
      {
        ask: 'GET /downloads/latest',
        status: 302,
        tells: { location: 'https://api.example/downloads/files/7', 'x-served-by': 'gateway', server: null },
      },
    ],
  },
  'validate-json': {
    shows: 'Request validation: bodies are validated against a JSON Schema; one response lists all errors.',
    calls: [
      { ask: 'POST /bookings/new', headers: json, body: '{"product": "tea", "count": 2}', status: 200 },
      { ask: 'POST /bookings/new', headers: json, body: '{"count": 0}', status: 422, says: /product.*count/ },
      { ask: 'POST /bookings/new', headers: json, body: '{', status: 400, says: /JSON parsing error/ },
    ],
  },
  'validate-request': {
    calls: [
      { ask: 'GET /parcels/find?day=1999-12-31', status: 200 },
      { ask: 'GET /parcels/find?limit=101', status: 400, says: /query\.day.*query\.limit/, reaches: null },
      { ask: 'POST /parcels/new', headers: json, body: '{"to": "Ann", "grams": 500}', status: 200 },
      { ask: 'POST /parcels/new', headers: json, body: '{"to": "Ann"}', status: 422, says: /grams/, reaches: null },
    ],
  },
  mock: {
    calls: [
      {
        ask: 'GET /garden/plants',
        status: 200,
        says: /^\[\{"name":"Rose"\}\]$/,
        tells: { 'content-type': /json/ },
        reaches: null,
      },
      { ask: 'GET /garden/beds', status: 200, reaches: 'GET /beds' },
    ],
  },
  'mock-examples': {
    calls: [
      { ask: 'GET /zoo/animals', status: 200, says: /^\[\{"name":"Otter"\}\]$/, reaches: null },
      { ask: 'GET /zoo/animals', headers: { 'X-Gw-Accept-Example-Name': 'empty' }, status: 200, says: /^\[\]$/ },
      {
        ask: 'GET /zoo/animals',
        headers: { 'X-Gw-Accept-Example-Code': '404', 'X-Gw-Accept-Example-Name': '' },
        status: 404,
        says: /"error"/,
      },
    ],
  },
  plugins: {
    after: async (at, id) => ({ KEY: await at.key(id, { meta_data: { customer: 'ann' } }) }),
    calls: [
      {
        ask: 'GET /carts/7',
        headers: { 'X-Api-Key': '$KEY' },
        status: 200,
        tells: { 'x-served-by': /^corner$/ },
        reaches: 'GET /7?currency=EUR',
        sees: { 'x-shop': /^corner$/, 'x-customer': /^ann$/ },
      },
      { ask: 'GET /carts/7', status: 401, reaches: null },
    ],
  },
  'endpoint-plugin': {
    calls: [
      { ask: 'PUT /parcels/7', status: 200, reaches: 'PUT /7', sees: { 'x-parcel': /^7$/ } },
      { ask: 'PUT /parcels/none', status: 400, says: /a parcel has a number/, reaches: null },
      { ask: 'GET /parcels/none', status: 200, reaches: 'GET /none' },
    ],
  },
  'record-plugin': {
    calls: [{ ask: 'GET /patients/4711', status: 200, reaches: 'GET /4711' }],
    async afterwards(at, id) {
      const call = await eventually(async () => {
        const { body } = await at.app.ask('GET', `/api/logs?start=0&end=9999999999&api_id=${id}`);
        assert.ok(body.data[0]);
        return body.data[0];
      });
      assert.deepEqual([call.path, call.raw_path, call.ip_address], ['/{number}', '', '127.0.0.0']);
      assert.ok(call.tags.includes('masked'));
    },
  },
  'virtual-endpoint': {
    calls: [
      { ask: 'POST /sums/total', body: '[1, 2, 3]', status: 200, says: /^\{"sum":6\}$/, reaches: null },
      { ask: 'POST /sums/total', body: 'none', status: 500, says: /virtual endpoint/, reaches: null },
    ],
  },
  'error-overrides': {
    after: async (at, id) => ({ KEY: await at.key(id) }),
    answer: (_request, response) => void response.writeHead(500).end('a stack trace'),
    calls: [
      {
        ask: 'GET /tours/7',
        status: 401,
        says: /^\{"message": "Please send your key"\}$/,
        tells: { 'x-help': /help/ },
      },
      {
        ask: 'GET /tours/7',
        headers: { Authorization: '$KEY' },
        status: 502,
        says: /^\{"message": "Please come back later"\}$/,
      },
    ],
  },
};
