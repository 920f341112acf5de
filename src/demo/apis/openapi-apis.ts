/** Forecast: mock responses from the examples of the document; no request reaches the upstream. */
export const createForecastApi = (origin: string) => ({
  openapi: '3.0.3',
  info: { title: 'Forecast', version: '1.0.0', description: 'Sample API: mock responses from examples.' },
  paths: {
    '/forecast/{city}': {
      parameters: [{ name: 'city', in: 'path', required: true, schema: { type: 'string' } }],
      get: {
        operationId: 'getForecast',
        summary: 'Weather of the next days',
        responses: {
          200: {
            description: 'Forecast',
            content: {
              'application/json': {
                examples: {
                  sunny: {
                    value: {
                      days: [
                        { day: 1, sky: 'clear', celsius: 21 },
                        { day: 2, sky: 'clouds', celsius: 18 },
                      ],
                    },
                  },
                  storm: { value: { days: [{ day: 1, sky: 'storm', celsius: 9 }] } },
                },
              },
            },
          },
        },
      },
    },
  },
  'x-gw-api-gateway': {
    info: { name: 'Forecast', state: { active: true } },
    server: { listenPath: { value: '/weather/', strip: true } },
    upstream: { url: origin },
    middleware: {
      global: { trafficLogs: { enabled: true } },
      operations: {
        getForecast: {
          mockResponse: {
            enabled: true,
            fromOASExamples: { enabled: true, code: 200, contentType: 'application/json', exampleName: 'sunny' },
          },
        },
      },
    },
  },
});

/** Reports: HTTP Basic authentication. */
export const createReportsApi = (origin: string) => ({
  openapi: '3.0.3',
  info: { title: 'Reports', version: '1.0.0', description: 'Sample API: a user name and a password.' },
  paths: {
    '/{name}': {
      parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string' } }],
      get: { operationId: 'getReport', summary: 'Reads a report', responses: { 200: { description: 'The report' } } },
    },
  },
  components: { securitySchemes: { users: { type: 'http', scheme: 'basic' } } },
  security: [{ users: [] }],
  'x-gw-api-gateway': {
    info: { name: 'Reports', state: { active: true } },
    server: {
      listenPath: { value: '/reports/', strip: true },
      authentication: {
        enabled: true,
        stripAuthorizationData: true,
        securitySchemes: {
          users: { enabled: true, header: { enabled: true, name: 'Authorization' }, cacheTTL: 300 },
        },
      },
    },
    upstream: { url: `${origin}/reports` },
    middleware: { global: { trafficLogs: { enabled: true } } },
  },
});
