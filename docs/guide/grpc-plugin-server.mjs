// Server of gRPC plugins: node grpc-plugin-server.mjs PORT
// Needs the packages @grpc/grpc-js and @grpc/proto-loader, and coprocess.proto beside this file.
import { loadPackageDefinition, Server, ServerCredentials } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

/** Hooks by their names in definitions; each changes the object. */
const hooks = {
  greeting({ request, spec }) {
    const name = request.headers['X-Name'];
    const { word } = JSON.parse(spec.config_data);
    if (name) request.set_headers['X-Greeting'] = `${word} ${name}`;
    else request.return_overrides = { response_code: 400, response_error: 'X-Name is missing' };
  },
  sign({ response }) {
    response.multivalue_headers.push({ key: 'X-Served-By', values: ['grpc'] });
  },
  check(object) {
    const token = object.request.headers.Authorization;
    if (token !== 'secret') return;
    const { APIID: api_id } = object.spec;
    const access_rights = { [api_id]: { api_id, api_name: '', versions: ['Default'] } };
    object.session = { rate: 10, per: 1, access_rights, metadata: { token } };
  },
};

const definition = loadSync(`${import.meta.dirname}/coprocess.proto`, {
  keepCase: true,
  longs: Number,
  defaults: true,
});
const { Dispatcher } = loadPackageDefinition(definition).coprocess;
const server = new Server();
server.addService(Dispatcher.service, {
  Dispatch({ request: object }, reply) {
    hooks[object.hook_name]?.(object);
    reply(null, object);
  },
  DispatchEvent({ request: { payload } }, reply) {
    console.log(payload);
    reply(null, {});
  },
});
server.bindAsync(`127.0.0.1:${process.argv[2]}`, ServerCredentials.createInsecure(), error => {
  if (error) throw error;
});
