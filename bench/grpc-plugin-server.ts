import { startGrpcPluginServer } from '../tests/support/grpc-plugin-server.ts';

/** gRPC server of the benches, in a process of its own: `node bench/grpc-plugin-server.ts PORT`. Its hook sets a header. */
const server = await startGrpcPluginServer(undefined, Number(process.argv[2]));
server.hooks.pre = object => {
  server.objects.length = 0;
  object.request.set_headers['X-Plugin'] = 'yes';
  return object;
};
