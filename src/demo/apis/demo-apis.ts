import type { ConfigurationObject } from '#configuration/schema.ts';
import { createBookshopApi, createCatalogueApi, createPaymentsApi } from './classic-apis.ts';
import { createForecastApi, createReportsApi } from './openapi-apis.ts';
import { createOrdersApi, createOrderTools } from './orders.ts';

/** Public ids of the sample APIs. */
export const apiIds = {
  orders: 'demo-orders',
  tools: 'demo-order-tools',
  catalogue: 'demo-catalogue',
  forecast: 'demo-forecast',
  bookshop: 'demo-bookshop',
  payments: 'demo-payments',
  reports: 'demo-reports',
} as const;

/** Names in the rights of policies and keys. */
export const apiNames: Readonly<Record<string, string>> = {
  [apiIds.orders]: 'Orders',
  [apiIds.tools]: 'Order tools',
  [apiIds.bookshop]: 'Bookshop',
  [apiIds.payments]: 'Payments',
  [apiIds.reports]: 'Reports',
};

/** The sample APIs in front of an upstream. */
export function createDemoApis(origin: string, hookId: string): ConfigurationObject[] {
  const toObject = (id: string, format: string, definition: object): ConfigurationObject => ({
    kind: 'api',
    id,
    spec: { format, definition },
  });
  return [
    toObject(apiIds.orders, 'oas', createOrdersApi(origin, hookId)),
    toObject(apiIds.tools, 'mcp', createOrderTools(apiIds.orders)),
    toObject(apiIds.forecast, 'oas', createForecastApi(origin)),
    toObject(apiIds.reports, 'oas', createReportsApi(origin)),
    toObject(apiIds.catalogue, 'classic', createCatalogueApi(origin)),
    toObject(apiIds.bookshop, 'classic', createBookshopApi(origin)),
    toObject(apiIds.payments, 'classic', createPaymentsApi(origin, hookId)),
  ];
}
