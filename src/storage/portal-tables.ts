/** The portal's tables; see `tables.ts`. */
export interface PortalTables {
  portal_providers: { id: number; body: string };
}
