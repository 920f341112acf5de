/** Tables of the web app: what it stores for its users, and what its search reads. */
export interface WorkspaceTables {
  user_preferences: { user_id: string; org_id: string; updated_at: number; body: string };
  /** Notifications that a user has read, and topics that it has muted: `kind` is `read` or `muted`. */
  notification_marks: { user_id: string; org_id: string; kind: string; name: string; at: number };
  /** Names of objects, folded, one per line in `text`; `label` and `detail` are what a result shows. */
  search_names: { org_id: string; kind: string; text: string; object: string; label: string; detail: string };
}
