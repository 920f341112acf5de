import { createHash } from 'node:crypto';
import type { GatewayResponse } from '../../http/response.ts';
import type { Exchange } from '../../pipeline/exchange.ts';
import { ApiCompileError } from '../../pipeline/step.ts';
import type { DriverContext, HookDriver, HookList, PluginHook } from '../driver.ts';
import { formatHookUrl } from '../request-hook.ts';
import {
  applyMetadata,
  applyMethod,
  convertOverrides,
  convertResponse,
  isErrorOverride,
  readAuthMembers,
  toPluginError,
} from './convert-object.ts';
import { decodeObject, type ReturnedObject } from './decode-object.ts';
import { encodeObject, encodeSpec } from './encode-object.ts';
import { createTextMap, type TextMap } from './field-maps.ts';
import type { GrpcClient } from './grpc-client.ts';
import { GrpcError } from './grpc-error.ts';
import { hookTypes } from './object-fields.ts';
import { toTextMap } from './session-state.ts';

const dispatchPath = '/coprocess.Dispatcher/Dispatch';
const logs: readonly string[] = [];

/** Driver `grpc`: hooks are calls of one server, whose address is a setting. */
export function createGrpcDriver(context: DriverContext): HookDriver {
  const { hooks, model, services } = context;
  const client = requireClient(context);
  for (const { functionName } of Object.values(hooks).flat())
    if (functionName === '') throw new ApiCompileError('a plugin of the driver grpc has no name');
  const spec = encodeSpec(listSpec(model));
  const metadataOf = (call: Exchange) => call.session && toTextMap(call.session.metaData);

  async function dispatch(
    hook: PluginHook,
    list: HookList,
    given: {
      readonly call: Exchange;
      readonly body: Buffer;
      readonly metadata: TextMap | undefined;
      readonly response: GatewayResponse | undefined;
    },
  ): Promise<ReturnedObject> {
    try {
      if (given.body.length > client.maxSendBytes)
        throw new GrpcError('size', `the body has ${given.body.length} bytes, more than ${client.maxSendBytes}`);
      const { functionName: name, rawBodyOnly } = hook;
      const frame = encodeObject({ ...given, type: hookTypes[list], name, rawBodyOnly, spec });
      return decodeObject(await client.call(dispatchPath, frame));
    } catch (error) {
      throw toPluginError(error, list);
    }
  }

  return {
    async runRequestHook(hook, list, call, body) {
      const metadata = list === 'pre' || list === 'auth' ? undefined : metadataOf(call);
      const object = await dispatch(hook, list, { call, body, metadata, response: undefined });
      const { request } = object;
      if (!request) throw toPluginError(new GrpcError('protocol', 'the server returned no request'), list);
      if (metadata) applyMetadata(call, metadata, object.session?.meta_data);
      applyMethod(call, request.method, list);
      const Request = {
        SetHeaders: request.setHeaders,
        DeleteHeaders: request.deleteHeaders,
        AddParams: request.addParams,
        DeleteParams: request.deleteParams,
        ...(request.url === formatHookUrl(call) ? undefined : { URL: request.url }),
        ...(request.rawBody.equals(body) ? undefined : { Body: request.rawBody }),
        ReturnOverrides: convertOverrides(request.overrides),
      };
      if (isErrorOverride(request.overrides) && list !== 'auth')
        services.emitEvent('AuthFailure', call, 'Auth Failure', { key: call.clientAddress });
      return { members: list === 'auth' ? readAuthMembers(object, Request) : { Request }, logs };
    },
    async runResponseHook(hook, call, response, body) {
      const object = await dispatch(hook, 'response', { call, body, metadata: metadataOf(call), response });
      const given = object.response;
      if (!given) throw toPluginError(new GrpcError('protocol', 'the server returned no response'), 'response');
      return { members: { Response: convertResponse(given, response, body) }, logs };
    },
  };
}

function requireClient({ model, services }: DriverContext): GrpcClient {
  const { grpcPlugins: client, grants, settings } = services;
  const { orgId } = model.identity;
  const granted = settings['plugins.grpc.organisations'];
  if (!grants.isOperator(orgId) && !granted.includes(orgId) && !granted.includes('*'))
    throw new ApiCompileError('plugins.grpc.organisations does not list the organisation of the API');
  if (!client) throw new ApiCompileError('plugins of the driver grpc need the setting plugins.grpc.address');
  return client;
}

function listSpec({ identity, pluginConfig }: DriverContext['model']): TextMap {
  const spec = createTextMap();
  const { dataEnabled, data, bundleEnabled, bundlePath } = pluginConfig;
  spec.OrgID = identity.orgId;
  spec.APIID = identity.id;
  if (bundleEnabled && bundlePath !== '') spec.bundle_hash = createHash('md5').update(bundlePath).digest('hex');
  if (dataEnabled && Object.keys(data).length > 0) spec.config_data = JSON.stringify(data);
  return spec;
}
