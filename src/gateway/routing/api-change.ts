import type { Exchange } from '../pipeline/exchange.ts';

/** Before another API serves the call: records mask the credentials of all APIs on its way. */
export function leaveApi(call: Exchange): void {
  if (call.api) {
    call.previousApis ??= [];
    if (!call.previousApis.includes(call.api)) call.previousApis.push(call.api);
  }
  clearIdentity(call);
}

function clearIdentity(call: Exchange): void {
  if (call.keyId !== '') call.previousKeyIds += `${call.keyId.length}:${call.keyId}`;
  call.keyId = '';
  call.counterOwner = '';
  call.keyHash = '';
  call.session = undefined;
  call.authMethod = '';
  call.matchedAlternative = -1;
  call.verifiedToken = undefined;
  call.bearerToken = '';
}

/** Begins with a slash, also where listen paths match in the middle of a segment. */
export function stripListenPath(path: string, listenPath: string): string {
  const rest = path.slice(listenPath.endsWith('/') ? listenPath.length - 1 : listenPath.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}
