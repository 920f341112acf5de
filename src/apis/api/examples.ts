/** Example request bodies of the API reference, one per definition format. */

export const classicExample = {
  name: 'Orders',
  use_keyless: false,
  use_standard_auth: true,
  auth: { auth_header_name: 'Authorization' },
  proxy: { listen_path: '/orders/', target_url: 'https://orders.example/', strip_listen_path: true },
  version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
};

export const plainDocumentExample = {
  openapi: '3.0.3',
  info: { title: 'Orders', version: '1.0.0' },
  servers: [{ url: 'https://orders.example/' }],
  paths: {
    '/orders/{id}': {
      get: {
        operationId: 'getOrder',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
        responses: { 200: { description: 'The order' } },
      },
    },
  },
};

const gatewayPart = {
  info: { name: 'Orders', state: { active: true } },
  upstream: { url: 'https://orders.example/' },
  server: { listenPath: { value: '/orders/', strip: true } },
};

export const documentExample = { ...plainDocumentExample, 'x-gw-api-gateway': gatewayPart };

export const mcpExample = {
  openapi: '3.0.3',
  info: { title: 'Order tools', version: '1.0.0' },
  paths: {},
  'x-gw-api-gateway': {
    info: { name: 'Order tools', state: { active: true } },
    upstream: { url: 'https://orders.example/mcp' },
    server: { listenPath: { value: '/order-tools/', strip: true } },
    middleware: {
      operations: { 'tools/callPOST': { rateLimit: { enabled: true, rate: 60, per: '1m' } } },
      mcpTools: { deleteOrder: { block: { enabled: true } } },
    },
  },
};

export const streamsExample = {
  openapi: '3.0.3',
  info: { title: 'Order events', version: '1.0.0' },
  paths: {},
  'x-gw-api-gateway': gatewayPart,
  'x-gw-streaming': { streams: {} },
};
