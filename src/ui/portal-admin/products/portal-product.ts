import type { ResultOf } from '../../kit/calls.ts';

export type PortalProduct = ResultOf<'GET /portal-api/products/{product_id}'>;
