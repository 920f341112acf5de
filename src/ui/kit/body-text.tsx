/** Text of a message, shown as it is. */
export const BodyText = ({ label, text }: { label: string; text: string }) => (
  <section aria-label={label}>
    <pre className="rounded-control border border-line bg-page p-3 font-mono text-small break-all whitespace-pre-wrap">
      {text}
    </pre>
  </section>
);
