import { useQuery } from '@tanstack/react-query';
import { callServer } from '../../../kit/calls.ts';
import type { ApiOutline } from '../api-outline.ts';
import type { FormSchema } from './form-schema.ts';

const routes = {
  classic: 'GET /api/schemas/apidefs/classic',
  oas: 'GET /api/schemas/apidefs/oas',
  streams: 'GET /api/schemas/apidefs/streams-oas',
} as const;

/** Schema of definitions in a format; it stays the same while the page is open. */
export const useDefinitionSchema = (format: ApiOutline['format']) =>
  useQuery({
    queryKey: [routes[format]],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => (await callServer(routes[format], {}, { signal })).value.schema as FormSchema,
  });

export const gatewayMember = 'x-gw-api-gateway';
