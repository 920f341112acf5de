/** Sign of the product: a gate of two posts. */
export const ProductSign = () => (
  <svg width="20" height="20" viewBox="0 0 20 20" fill="none" aria-hidden="true" className="shrink-0 text-accent-ink">
    <path d="M3 17V8a7 7 0 0 1 14 0v9" stroke="currentColor" strokeWidth="2" strokeLinecap="round" />
    <path d="M8 17v-6h4v6" stroke="currentColor" strokeWidth="2" strokeLinejoin="round" />
  </svg>
);
