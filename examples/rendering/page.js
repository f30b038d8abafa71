// The page: an order book of some hundred rows, which React renders to a string. It is the handler of the pool, and the server calls it
// directly when there is no pool.
import { createElement as h } from 'react'
import { renderToString } from 'react-dom/server'

const products = ['Anchor', 'Buoy', 'Compass', 'Deck chair', 'Ensign', 'Fender', 'Gangway', 'Halyard']

export default function renderPage({ rowCount, visitor }) {
  return `<!doctype html>${renderToString(h(Page, { orders: makeOrders(rowCount), visitor }))}`
}

function Page({ orders, visitor }) {
  return h(
    'html',
    { lang: 'en' },
    h('head', null, h('meta', { charSet: 'utf-8' }), h('title', null, 'Orders')),
    h(
      'body',
      null,
      h(Heading, { visitor, count: orders.length }),
      h(OrderTable, { orders }),
      h(Summary, { orders }),
    ),
  )
}

function Heading({ visitor, count }) {
  return h(
    'header',
    { className: 'heading' },
    h('h1', null, 'Orders'),
    h('p', null, `${count} for ${visitor}`),
  )
}

function OrderTable({ orders }) {
  const names = ['Order', 'Product', 'Pieces', 'Price', 'State']
  return h(
    'table',
    { className: 'orders' },
    h('thead', null, h('tr', null, ...names.map(name => h('th', { key: name, scope: 'col' }, name)))),
    h('tbody', null, ...orders.map(order => h(OrderRow, { key: order.id, order }))),
  )
}

function OrderRow({ order }) {
  const state = order.pieces % 3 === 0 ? 'sent' : 'open'
  return h(
    'tr',
    { className: `order ${state}`, 'data-id': order.id },
    h('td', null, h('a', { href: `/orders/${order.id}` }, `#${order.id}`)),
    h('td', null, order.product),
    h('td', { style: { textAlign: 'right' } }, order.pieces),
    h('td', { style: { textAlign: 'right' } }, `${(order.cents / 100).toFixed(2)} EUR`),
    h('td', null, h('span', { className: 'badge', title: `This order is ${state}` }, state)),
  )
}

function Summary({ orders }) {
  const cents = orders.reduce((sum, order) => sum + order.cents * order.pieces, 0)
  return h('footer', null, h('strong', null, `Total ${(cents / 100).toFixed(2)} EUR`))
}

function makeOrders(rowCount) {
  return Array.from({ length: rowCount }, (_, index) => ({
    id: 10_000 + index,
    product: `${products[index % products.length]} & more, size ${index % 17}`,
    pieces: 1 + (index % 9),
    cents: 995 + 37 * (index % 101),
  }))
}
