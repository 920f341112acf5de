/** `coprocess.HookType` */
export const hookTypes = { pre: 1, post: 2, postAuth: 3, auth: 4, response: 5, endpoint: 2 } as const;

/** Field numbers of `coprocess.Object` and its parts. `extended_params` has no effect. */
export const objectFields = {
  hookType: 1,
  hookName: 2,
  request: 3,
  session: 4,
  metadata: 5,
  spec: 6,
  response: 7,
} as const;
export const requestFields = {
  headers: 1,
  setHeaders: 2,
  deleteHeaders: 3,
  body: 4,
  url: 5,
  params: 6,
  addParams: 7,
  deleteParams: 9,
  returnOverrides: 10,
  method: 11,
  requestUri: 12,
  scheme: 13,
  rawBody: 14,
} as const;
export const overrideFields = {
  responseCode: 1,
  responseError: 2,
  headers: 3,
  overrideError: 4,
  responseBody: 5,
} as const;
export const responseFields = { statusCode: 1, rawBody: 2, body: 3, headers: 4, multivalueHeaders: 5 } as const;
