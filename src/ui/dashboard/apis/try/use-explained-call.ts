import { useMutation } from '@tanstack/react-query';
import { callServer } from '../../../kit/calls.ts';
import { texts } from '../../../texts/texts.ts';
import type { TriedRequest } from './curl.ts';

export const joinUrl = (address: string, path: string) => `${address.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`;

/** A response may return what the upstream received: a stored key is masked in it. */
const maskKey = <Value>(value: Value, key: string): Value =>
  key === ''
    ? value
    : (JSON.parse(JSON.stringify(value).replaceAll(JSON.stringify(key).slice(1, -1), texts.tryApi.masked)) as Value);

/** Body of the operation: an empty body is none. */
export const toExplained = ({ body, ...rest }: TriedRequest) => ({ ...rest, ...(body === '' ? {} : { body }) });

/** Sends a request through the gateway, with the decision of every step. */
export const useExplainedCall = (storedKey: string) =>
  useMutation({
    mutationFn: async (request: TriedRequest) => {
      const response = await callServer('POST /api/explain', { body: toExplained(request) });
      return maskKey(response.value, storedKey);
    },
  });
