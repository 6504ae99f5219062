import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** `npx vite dashboard` serves it with hot reload, and takes the API from a running `hookonce dev`. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // The server puts the path of a page in front of these addresses: see src/server/admin/dashboard/pages.ts.
  base: './',
  plugins: [react()],
  build: {
    outDir: fileURLToPath(new URL('../dist/dashboard', import.meta.url)),
    emptyOutDir: true,
    target: ['chrome111', 'firefox114', 'safari16.4'],
    // The content security policy allows no data: addresses.
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    license: { fileName: 'licences.md' },
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: { '/api': 'http://127.0.0.1:4100' } },
})
