/** Plugins that `gw plugin new` writes. */
export function createTemplate(name: string, driver: string): { readonly file: string; readonly text: string } {
  return driver === 'javascript'
    ? { file: `${name}.js`, text: createJavascript(name) }
    : { file: `${name}.ts`, text: createTypescript() };
}

const createTypescript = () => `import type { RequestHook, ResponseHook } from 'gatewright/plugin';

/** Data of the definition: config_data, or pluginConfig.data in the OpenAPI format. */
interface Config {
  readonly header?: string;
}

// Runs before authentication where a definition names it:
//   "custom_middleware": { "driver": "typescript", "pre": [{ "name": "pre", "path": "FILE.ts" }] }
export const pre: RequestHook<Config> = (request, context) => {
  // A returned response ends the request.
  if (request.headers.has('x-blocked')) return { status: 403, error: 'blocked' };
  request.headers.set(context.config.header ?? 'X-Plugin', request.method);
};

// Runs on the response: "response": [{ "name": "response", "path": "FILE.ts" }]
export const response: ResponseHook<Config> = (response, request, context) => {
  response.headers.set('X-Plugin-Status', String(response.status));
  context.log(\`\${request.method} \${request.url}: \${response.status}\`);
};
`;

const createJavascript = (name: string) => `// Runs before authentication where a definition names it:
//   "custom_middleware": { "driver": "javascript", "pre": [{ "name": "${name}", "path": "${name}.js" }] }
const ${name} = new GwJS.GwMiddleware.NewMiddleware({});

${name}.NewProcessRequest(function (request, session, config) {
  // A response code ends the request.
  if (request.Headers['X-Blocked']) {
    request.ReturnOverrides.ResponseCode = 403;
    request.ReturnOverrides.ResponseError = 'blocked';
  }
  request.SetHeaders['X-Plugin'] = request.Method;
  return ${name}.ReturnData(request, session.meta_data || {});
});
`;
