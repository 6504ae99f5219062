import { chargebee, gocardless, lithic, paddle, paypal, square } from 'hookonce/providers'
import {
  chargebeeApi,
  gocardlessApi,
  lithicApi,
  paddleApi,
  paypalApi,
  squareApi,
} from '../../support/sender-apis/payments.js'
import { listContract } from './contract.js'

listContract({ factory: gocardless, key: 'live_readOnly', shape: gocardlessApi() })
listContract({ factory: square, key: 'EAAAlpersonal', shape: squareApi() })
listContract({ factory: chargebee, key: 'live_readKey', shape: chargebeeApi() })
listContract({ factory: paypal, key: 'AbClientId:EFsecret', shape: paypalApi() })
listContract({ factory: paddle, key: 'pdl_live_apikey_01', shape: paddleApi() })
listContract({ factory: lithic, key: 'lithic-api-key', shape: lithicApi() })
