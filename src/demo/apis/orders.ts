/** Orders: a REST API in the OpenAPI format with keys, and the same operations as MCP tools. */

const components = {
  securitySchemes: { keys: { type: 'apiKey', in: 'header', name: 'Authorization' } },
};
const security = [{ keys: [] }];
const authentication = { enabled: true, securitySchemes: { keys: { enabled: true } } };

const order = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    customer: { type: 'string' },
    status: { type: 'string', enum: ['open', 'paid', 'shipped'] },
    total: { type: 'number' },
  },
};
const newOrder = {
  type: 'object',
  required: ['customer', 'total'],
  properties: { customer: { type: 'string', minLength: 1 }, total: { type: 'number', minimum: 0 } },
};

const ofJson = (schema: object) => ({ 'application/json': { schema } });
const orderId = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };

const paths = {
  '/orders': {
    get: {
      operationId: 'listOrders',
      summary: 'Lists the orders',
      responses: { 200: { description: 'Orders', content: ofJson({ type: 'array', items: order }) } },
    },
    post: {
      operationId: 'createOrder',
      summary: 'Creates an order',
      requestBody: { required: true, content: ofJson(newOrder) },
      responses: { 201: { description: 'The new order', content: ofJson(order) } },
    },
  },
  '/orders/{id}': {
    get: {
      operationId: 'getOrder',
      summary: 'Reads an order',
      parameters: [orderId],
      responses: { 200: { description: 'The order', content: ofJson(order) }, 404: { description: 'No such order' } },
    },
  },
};

/** The document that developers read: without the extension of the gateway. */
export const ordersDocument = {
  openapi: '3.0.3',
  info: { title: 'Orders', version: '1.0.0', description: 'Orders of a shop.' },
  paths,
  components,
  security,
};

export const createOrdersApi = (origin: string, hookId: string) => ({
  openapi: '3.0.3',
  info: {
    title: 'Orders',
    version: '1.0.0',
    description: 'Sample API: keys with a rate limit and a quota, validated requests, a webhook for exceeded rates.',
  },
  paths,
  components,
  security,
  'x-gw-api-gateway': {
    info: { name: 'Orders', state: { active: true } },
    server: {
      listenPath: { value: '/shop/', strip: true },
      authentication,
      eventHandlers: [{ enabled: true, trigger: 'RatelimitExceeded', type: 'webhook', id: hookId }],
    },
    upstream: { url: `${origin}/shop` },
    middleware: {
      global: { trafficLogs: { enabled: true } },
      operations: { createOrder: { validateRequest: { enabled: true, errorResponseCode: 422 } } },
    },
  },
});

export const createOrderTools = (ordersId: string) => ({
  openapi: '3.0.3',
  info: {
    title: 'Order tools',
    version: '1.0.0',
    description: 'Sample MCP server: the operations of Orders as tools.',
  },
  paths: {},
  components,
  security,
  'x-gw-api-gateway': {
    info: { name: 'Order tools', state: { active: true } },
    server: { listenPath: { value: '/shop-tools/', strip: true }, authentication },
    upstream: { url: `gw://${ordersId}/mcp` },
    middleware: { global: { trafficLogs: { enabled: true } } },
  },
});
